//! react_agent.
