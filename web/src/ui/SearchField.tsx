import { useEffect, useRef, useState } from "react";
import { Field } from "./Field";
import { useDebounced } from "./useDebounced";

type SearchFieldProps = { search: string; placeholder: string; onSearch: (search: string) => void };

/** Searches when typing pauses. */
export function SearchField({ search, placeholder, onSearch }: SearchFieldProps) {
  const [typed, setTyped] = useState(search);
  const paused = useDebounced(typed.trim());
  const sent = useRef(search);
  // The address was changed elsewhere, for example by a button that shows all.
  useEffect(() => {
    if (search === sent.current) return;
    sent.current = search;
    setTyped(search);
  }, [search]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is typed asks for anything.
  useEffect(() => {
    if (paused === sent.current) return;
    sent.current = paused;
    onSearch(paused);
  }, [paused]);
  return (
    <Field
      label="Search"
      type="search"
      placeholder={placeholder}
      value={typed}
      onChange={(it) => setTyped(it.target.value)}
    />
  );
}
