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
    const sizes = new ResizeObserver(() => setOverflowing(overflows(element, direction)));
    const observeSizes = () => {
      sizes.disconnect();
      for (const part of [element, ...element.children]) sizes.observe(part);
    };
    observeSizes();
    // Children may be replaced, such as the picture of a chart.
    const children = new MutationObserver(observeSizes);
    children.observe(element, { childList: true });
    return () => {
      sizes.disconnect();
      children.disconnect();
    };
  }, [frame, direction]);
  return isOverflowing;
}

function overflows(element: HTMLElement | null, direction: Direction): boolean {
  if (!element) return false;
  return direction === "inline"
    ? element.scrollWidth > element.clientWidth
    : element.scrollHeight > element.clientHeight;
}
