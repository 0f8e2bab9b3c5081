// Reads search parameters of an address. A value that does not fit is dropped, because anybody can edit an address.

/** What the router hands over: every parameter, parsed as JSON where that is possible. */
export type RawSearch = Record<string, unknown>;

export const textParam = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : typeof value === "number" ? String(value) : undefined;

export const numberParam = (value: unknown): number | undefined => {
  const number = typeof value === "number" || typeof value === "string" ? Number(value) : Number.NaN;
  return value !== "" && Number.isFinite(number) ? number : undefined;
};

export const flagParam = (value: unknown): boolean | undefined =>
  value === true || value === "true" ? true : value === false || value === "false" ? false : undefined;

/** A share from 1 % to 100 %. */
export const shareParam = (value: unknown): number | undefined => {
  const share = numberParam(value);
  return share !== undefined && share >= 0.01 && share <= 1 ? share : undefined;
};

export const oneOf =
  <Name extends string>(...names: Name[]) =>
  (value: unknown): Name | undefined =>
    names.find((name) => name === value);
