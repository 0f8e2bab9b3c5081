import { useEffect } from "react";

/** Sets the title of the browser tab. */
export function useTitle(title: string | undefined) {
  useEffect(() => {
    if (title === undefined) return;
    document.title = `${title} · Jurist`;
    return () => {
      document.title = "Jurist";
    };
  }, [title]);
}
