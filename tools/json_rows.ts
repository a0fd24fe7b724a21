/** JSON of which each row is on one line, such as one provider type: short to read, and a change of it is one line. */
/** `isRow`: whether the value at these keys and indexes is one; everything above it is laid out. */
export const jsonRows = (value: unknown, isRow: (path: ReadonlyArray<string>) => boolean): string =>
  `${laidOut(value, isRow, [])}\n`;

const laidOut = (
  value: unknown,
  isRow: (path: ReadonlyArray<string>) => boolean,
  path: ReadonlyArray<string>,
): string => {
  const isEmpty = typeof value !== "object" || value === null || Object.keys(value).length === 0;
  if (isEmpty || isRow(path)) return JSON.stringify(value);
  const indent = " ".repeat(path.length + 1);
  const end = `\n${" ".repeat(path.length)}`;
  const isList = Array.isArray(value);
  const lines = Object.entries(value).map(([key, inner]) =>
    `${indent}${isList ? "" : `${JSON.stringify(key)}: `}${laidOut(inner, isRow, [...path, key])}`
  );
  const [open, close] = isList ? "[]" : "{}";
  return `${open}\n${lines.join(",\n")}${end}${close}`;
};
