import { type RefObject, useEffect, useLayoutEffect, useState } from "react";

type Direction = "inline" | "block";

/**
 * Whether the content of an element is wider (`inline`) or taller (`block`) than the element. It is known before the
 * first paint, so that an element that scrolls can get the focus from the start. A component that fills the element
 * itself does so in a layout effect above the call.
 */
export function useOverflow(frame: RefObject<HTMLElement | null>, direction: Direction): boolean {
  const [isOverflowing, setOverflowing] = useState(false);
  useLayoutEffect(() => setOverflowing(overflows(frame.current, direction)));
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setOverflowing(overflows(element, direction)));
    observer.observe(element);
    for (const inner of element.children) observer.observe(inner);
    return () => observer.disconnect();
  }, [frame, direction]);
  return isOverflowing;
}

function overflows(element: HTMLElement | null, direction: Direction): boolean {
  if (!element) return false;
  return direction === "inline"
    ? element.scrollWidth > element.clientWidth
    : element.scrollHeight > element.clientHeight;
}
