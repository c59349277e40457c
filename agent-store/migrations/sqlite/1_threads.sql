CREATE TABLE agent_thread (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    -- How many commits it has seen.
    version INTEGER NOT NULL,
    -- The id of the checkpoint that was added last.
    head TEXT
) STRICT;

CREATE TABLE agent_checkpoint (
    thread INTEGER NOT NULL REFERENCES agent_thread (id) ON DELETE CASCADE,
    -- The version of the thread that it made.
    version INTEGER NOT NULL,
    id TEXT NOT NULL,
    parent TEXT,
    payload BLOB NOT NULL,
    PRIMARY KEY (thread, version),
    UNIQUE (thread, id)
) STRICT;

-- What was written since the head.
CREATE TABLE agent_write (
    thread INTEGER NOT NULL REFERENCES agent_thread (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    position INTEGER NOT NULL,
    payload BLOB NOT NULL,
    PRIMARY KEY (thread, version, position)
) STRICT;
