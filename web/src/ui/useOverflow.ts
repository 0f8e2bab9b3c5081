import { useEffect, useRef, useState } from "react";

type Direction = "inline" | "block";

/** Whether the content of an element is wider (`inline`) or taller (`block`) than the element. */
export function useOverflow<E extends HTMLElement>(direction: Direction) {
  const frame = useRef<E>(null);
  const [isOverflowing, setOverflowing] = useState(false);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const look = () =>
      setOverflowing(
        direction === "inline"
          ? element.scrollWidth > element.clientWidth
          : element.scrollHeight > element.clientHeight,
      );
    const observer = new ResizeObserver(look);
    observer.observe(element);
    for (const inner of element.children) observer.observe(inner);
    return () => observer.disconnect();
  }, [direction]);
  return [frame, isOverflowing] as const;
}
