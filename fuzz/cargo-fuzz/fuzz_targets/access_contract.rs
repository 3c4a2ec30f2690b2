#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| scion_fuzz_harness::targets::access_contract(data));
