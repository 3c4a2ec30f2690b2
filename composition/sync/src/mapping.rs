//! Records of a vendor become entities, relationships and documents.
