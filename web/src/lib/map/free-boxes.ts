// Labels that fit on the map: an earlier one is more important than a later one.
export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** The items whose boxes overlap none of those before them. */
export function freeBoxes<T>(items: readonly T[], boxOf: (item: T) => Box): T[] {
  const taken: Box[] = [];
  return items.filter((item) => {
    const box = boxOf(item);
    const isFree = taken.every(
      (other) => box.right < other.left || box.left > other.right || box.bottom < other.top || box.top > other.bottom,
    );
    if (isFree) taken.push(box);
    return isFree;
  });
}
