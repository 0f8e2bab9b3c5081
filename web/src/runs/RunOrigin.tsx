import type { Schemas } from "../api/client";
import { Badge } from "../ui/Badge";
import styles from "./RunOrigin.module.css";

type Provenance = Schemas["RunProvenanceView"];

/** Branch, commit, author and tags of a run; a dash where nothing is known. */
export function RunOrigin({ provenance }: { provenance: Provenance }) {
  const { branch, commit, author, tags = [], ci_url: address } = provenance;
  if (!branch && !commit && !author && tags.length === 0) return <>–</>;
  const hash = commit && <code title={commit}>{commit.slice(0, 7)}</code>;
  return (
    <span className={styles.origin}>
      {branch && <span className={styles.branch}>{branch}</span>}
      {/* The server stores addresses of web pages only. */}
      {address ? (
        <a
          href={address}
          rel="noreferrer"
          aria-label={commit ? `CI job of ${commit.slice(0, 7)}` : undefined}
        >
          {hash || "CI job"}
        </a>
      ) : (
        hash
      )}
      {author && <span className={styles.author}>{author}</span>}
      {tags.map((tag) => (
        <Badge key={tag}>{tag}</Badge>
      ))}
    </span>
  );
}
