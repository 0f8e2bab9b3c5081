// Finds what a person wants to open by a part of its name.

/** Something that can be opened; `address` follows that of the project. */
export type Destination = { kind: string; label: string; address: string };

/** More matches than that are not read. */
const MOST = 12;

/** Destinations whose label or kind contains every word; those that start with the text come first. */
export function matchDestinations(all: Destination[], text: string): Destination[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = all.filter(({ kind, label }) => {
    const name = `${kind} ${label}`.toLowerCase();
    return words.every((word) => name.includes(word));
  });
  const start = text.trim().toLowerCase();
  const isFirst = ({ label }: Destination) => label.toLowerCase().startsWith(start);
  return matches.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a))).slice(0, MOST);
}
