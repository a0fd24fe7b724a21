/** The text, cut and marked with an ellipsis if it has more bytes in UTF-8. */
export const cutToBytes = (text: string, bytesMax: number): string => {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= bytesMax) return text;
  // A character that was cut in half is left out.
  const kept = new TextDecoder().decode(bytes.subarray(0, bytesMax - ELLIPSIS_BYTES), { stream: true });
  return `${kept}…`;
};

const ELLIPSIS_BYTES = 3;
