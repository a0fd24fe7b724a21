/** Addresses of the Internet Protocol, and networks of them, as numbers. */

/** The bytes of an IPv4 or IPv6 address; undefined if it is neither. */
export const addressBytes = (address: string): ReadonlyArray<number> | undefined =>
  address.includes(":") ? ipv6(address) : ipv4(address);

export interface Network {
  readonly bytes: ReadonlyArray<number>;
  /** How many leading bits all of its addresses have in common. */
  readonly bits: number;
}

/** `10.0.0.0/8`; undefined if it is no network as Go reads it: leading zeros, a zone, or IPv4 within IPv6. */
export const networkOf = (text: string): Network | undefined => {
  const [, address = "", bits = ""] = /^([0-9a-fA-F:.]+)\/(0|[1-9][0-9]{0,2})$/.exec(text) ?? [];
  const bytes = addressBytes(address);
  if (bytes === undefined || Number(bits) > bytes.length * 8 || bytes.length === 4 && /(^|\.)0[0-9]/.test(address)) {
    return undefined;
  }
  const isMapped = bytes.length === 16 && bytes.slice(0, 10).every((byte) => byte === 0) &&
    bytes[10] === 255 && bytes[11] === 255;
  return isMapped ? undefined : { bytes, bits: Number(bits) };
};

/** The same bits, and zeros behind them. */
export const firstAddress = ({ bytes, bits }: Network): ReadonlyArray<number> =>
  bytes.map((byte, index) => byte & (0xff00 >> Math.min(8, Math.max(0, bits - 8 * index))) & 0xff);

/** Whether it is in the other one, and smaller. */
export const isPartOf = (part: Network, whole: Network): boolean =>
  part.bytes.length === whole.bytes.length && part.bits > whole.bits &&
  firstAddress({ bytes: part.bytes, bits: whole.bits }).join() === firstAddress(whole).join();

const ipv4 = (text: string): ReadonlyArray<number> | undefined => {
  const parts = text.split(".");
  if (parts.length !== 4 || parts.some((part) => !/^\d{1,3}$/.test(part) || Number(part) > 255)) return undefined;
  return parts.map(Number);
};

const ipv6 = (text: string): ReadonlyArray<number> | undefined => {
  const name = URL.parse(`http://[${text.replace(/%.*$/, "")}]`)?.hostname.slice(1, -1);
  if (name === undefined) return undefined;
  const [before = "", after] = name.split("::");
  const groups = (part: string) => part === "" ? [] : part.split(":").map((group) => parseInt(group, 16));
  const [head, tail] = [groups(before), groups(after ?? "")];
  const middle = after === undefined ? [] : Array.from({ length: 8 - head.length - tail.length }, () => 0);
  return [...head, ...middle, ...tail].flatMap((group) => [group >> 8, group & 0xff]);
};
