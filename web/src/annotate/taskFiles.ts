// Chosen files in the form that the server expects.

export type Files = { config: string; files: Record<string, string> };

/** The configuration and the files that it names, each under the path in the configuration. */
export async function chosen(all: Pick<File, "name" | "text">[]): Promise<Files> {
  const read = await Promise.all(all.map(async (it) => [it.name, await it.text()] as const));
  const config = configOf(read.map(([name]) => name));
  const text = read.find(([name]) => name === config)?.[1] ?? "";
  return {
    config,
    files: Object.fromEntries(
      read.map(([name, content]) => [name === config ? name : pathIn(text, name), content]),
    ),
  };
}

/** Which file is the configuration: YAML first, names such as `config` first. */
export function configOf(names: string[]): string {
  const rank = (name: string) =>
    (/\.ya?ml$/i.test(name) ? 0 : /\.json$/i.test(name) ? 2 : 4) +
    (/config|task|annotat/i.test(name) ? 0 : 1);
  return names.toSorted((a, b) => rank(a) - rank(b))[0] ?? "";
}

/** The path under which a configuration names a file; browsers give only the file name. */
export function pathIn(config: string, name: string): string {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return (
    new RegExp(`(?:^|[\\s"'\\[,:])((?:[\\w.-]+/)*${escaped})(?=$|[\\s"'\\],#])`, "m").exec(config)?.[1] ??
    name
  );
}

export type Row = Record<string, unknown>;

/** Rows of data: an object on each line, or a list. Errors name the line. */
export function rowsOf(text: string): Row[] {
  const whole = text.trim();
  if (whole.startsWith("[")) {
    const all = listIn(whole);
    if (all?.every(isRow)) return all;
    throw new Error('a list must contain objects, for example [{"id": "a", "text": "…"}]');
  }
  return text.split("\n").flatMap((line, nth) => {
    if (line.trim() === "") return [];
    try {
      const row: unknown = JSON.parse(line);
      if (isRow(row)) return [row];
    } catch {
      // Reported below with an example.
    }
    throw new Error(`line ${nth + 1} is not a JSON object, for example {"id": "a", "text": "…"}`);
  });
}

function listIn(text: string): unknown[] | undefined {
  try {
    const all: unknown = JSON.parse(text);
    return Array.isArray(all) ? all : undefined;
  } catch {
    // The list is incomplete or contains invalid JSON.
    return undefined;
  }
}

const isRow = (it: unknown): it is Row => typeof it === "object" && it !== null && !Array.isArray(it);
