/** The works of the numbers from 0 up to `count`, so many of them at the same time, begun in that order. */
export const inParallel = async (
  count: number,
  atOnce: number,
  work: (index: number) => Promise<void>,
): Promise<void> => {
  let next = 0;
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (let index = next++; index < count; index = next++) await work(index);
  }));
};
