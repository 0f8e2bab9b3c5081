//! What the API says about itself is kept, so that others can be made from it.

use std::path::Path;

#[test]
fn the_description_that_is_kept_is_the_newest() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/openapi.json");
    let newest = jurist_server::description();
    if std::env::var_os("JURIST_BLESS").is_some() {
        std::fs::write(&path, &newest).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == newest, "schemas/openapi.json is not the newest; JURIST_BLESS=1 writes it");
}
