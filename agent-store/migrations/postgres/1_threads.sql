CREATE TABLE agent_thread (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    -- How many commits it has seen.
    version bigint NOT NULL,
    -- The id of the checkpoint that was added last.
    head text COLLATE "C"
);

CREATE TABLE agent_checkpoint (
    thread bigint NOT NULL REFERENCES agent_thread (id) ON DELETE CASCADE,
    -- The version of the thread that it made.
    version bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    parent text COLLATE "C",
    payload bytea NOT NULL,
    PRIMARY KEY (thread, version),
    UNIQUE (thread, id)
);

-- What was written since the head.
CREATE TABLE agent_write (
    thread bigint NOT NULL REFERENCES agent_thread (id) ON DELETE CASCADE,
    version bigint NOT NULL,
    position bigint NOT NULL,
    payload bytea NOT NULL,
    PRIMARY KEY (thread, version, position)
);
