/** Objects as one input of kubectl. Until 1.32 it read no JSON documents that `---` separates. */
export const manifestList = (items: ReadonlyArray<object>): string =>
  JSON.stringify({ apiVersion: "v1", kind: "List", items });
