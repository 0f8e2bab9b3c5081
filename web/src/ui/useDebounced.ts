import { useEffect, useState } from "react";

/** Milliseconds after the last key until a text is sent. */
const PAUSE = 400;

/** The last value, once it has not changed for a moment. */
export function useDebounced<T>(value: T, pause = PAUSE): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pause);
    return () => clearTimeout(timer);
  }, [value, pause]);
  return settled;
}
