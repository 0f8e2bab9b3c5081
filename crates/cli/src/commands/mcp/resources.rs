//! Resources: JSON schemas of files, and pages of the book.

use jurist_core::schema::{SCHEMAS, schema};
use rmcp::model::{Resource, ResourceContents};

use crate::book::BOOK_PAGES;

const SCHEMA: &str = "jurist://schema/";
const BOOK: &str = "jurist://book/";

/// All resources: schemas first.
pub fn list_served_resources() -> Vec<Resource> {
    let schemas = SCHEMAS.iter().map(|name| {
        Resource::new(format!("{SCHEMA}{name}"), format!("{name}.schema.json"))
            .with_title(format!("JSON Schema: {name}"))
            .with_description(format!("What `jurist schema {name}` prints"))
            .with_mime_type("application/schema+json")
    });
    let pages = BOOK_PAGES.iter().map(|page| {
        Resource::new(format!("{BOOK}{}", page.name), page.name)
            .with_title(page.title)
            .with_description(format!("A page of Jurist's book: {}", page.title))
            .with_mime_type("text/markdown")
            .with_size(page.text().len() as u64)
    });
    schemas.chain(pages).collect()
}

/// The text of a resource by its address.
pub fn read_served_resource(uri: &str) -> Option<ResourceContents> {
    if let Some(name) = uri.strip_prefix(SCHEMA) {
        let text = schema(name).filter(|_| SCHEMAS.contains(&name))?;
        return Some(ResourceContents::text(text, uri).with_mime_type("application/schema+json"));
    }
    let name = uri.strip_prefix(BOOK)?;
    let page = BOOK_PAGES.iter().find(|page| page.name == name)?;
    Some(ResourceContents::text(page.text(), uri).with_mime_type("text/markdown"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_resource_that_is_listed_can_be_read() {
        let all = list_served_resources();
        assert!(all.iter().any(|resource| resource.uri == "jurist://schema/suite"));
        assert!(all.iter().any(|resource| resource.uri == "jurist://book/mcp.md"));
        assert!(30 < all.len(), "the book is in this build: {}", all.len());
        for resource in &all {
            assert!(read_served_resource(&resource.uri).is_some(), "{}", resource.uri);
        }
        for uri in ["jurist://book/../Cargo.toml", "jurist://schema/other", "file:///etc/passwd", ""] {
            assert!(read_served_resource(uri).is_none(), "{uri}");
        }
    }
}
