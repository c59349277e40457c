//! What a run knows: keys with JSON values, and the messages.
