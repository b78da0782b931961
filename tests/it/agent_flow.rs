//! The agent with a real model endpoint and real servers on loopback.
