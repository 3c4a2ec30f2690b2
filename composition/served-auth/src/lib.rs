//! Use case: who may call a connector that listens on the network.
