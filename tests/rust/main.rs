//! The core, without Python: a scripted transport, and a clock that tokio moves when every task waits.
