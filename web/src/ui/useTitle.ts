import { useEffect } from "react";

/** What the browser calls the page. */
export function useTitle(title: string | undefined) {
  useEffect(() => {
    if (title === undefined) return;
    document.title = `${title} · Jurist`;
    return () => {
      document.title = "Jurist";
    };
  }, [title]);
}
