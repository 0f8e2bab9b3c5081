// Lists that are loaded page by page.

type Page<Item, Cursor> = { items: Item[]; next?: Cursor | null };

/** The most pages of one list: a hundred thousand entries in pages of 200. */
const MOST_PAGES = 500;

/** The largest page that the server sends. */
export const PAGE_SIZE = 200;

/** Loads all pages of a list, one after the other. */
export async function loadAllPages<Item, Cursor>(
  load: (after: Cursor | undefined) => Promise<Page<Item, Cursor>>,
): Promise<Item[]> {
  const items: Item[] = [];
  let after: Cursor | undefined;
  for (let n = 0; n < MOST_PAGES; n += 1) {
    const page = await load(after);
    items.push(...page.items);
    if (page.next == null) break;
    after = page.next;
  }
  return items;
}
