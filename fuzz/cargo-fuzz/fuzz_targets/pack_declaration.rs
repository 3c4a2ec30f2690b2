#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| scion_fuzz_harness::targets::pack_declaration(data));
