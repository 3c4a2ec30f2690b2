//! Local machine adapters: clock, entropy, state directories, file locks
