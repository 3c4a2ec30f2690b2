-- What an entry of a pack says beside its body.
ALTER TABLE pack_entry ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE pack_entry ADD COLUMN input_schema BLOB;
ALTER TABLE pack_entry ADD COLUMN output_schema BLOB;
ALTER TABLE pack_entry ADD COLUMN annotations TEXT NOT NULL DEFAULT '{}';
ALTER TABLE pack_entry ADD COLUMN links TEXT NOT NULL DEFAULT '[]';
ALTER TABLE pack_entry ADD COLUMN facts TEXT;
