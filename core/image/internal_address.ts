/**
 * Addresses that a registry named by a tenant must not lead the operator to: loopback, link-local (where clouds serve
 * credentials of the node), unspecified, multicast, and everything else that the registries of IANA for special-purpose addresses
 * call not globally reachable. But for private networks and the shared address space 100.64.0.0/10, which are usual for
 * registries: some clouds have theirs in the latter.
 */
import { addressBytes } from "../data/ip_address.ts";

/** `address`: an IPv4 or IPv6 address; anything else counts as internal. */
export const isInternal = (address: string): boolean => {
  const bytes = addressBytes(address);
  return bytes === undefined || (bytes.length === 4 ? isInternalIpv4(bytes) : isInternalIpv6(bytes));
};

/** One spelling of an address, for comparisons. */
export const canonicalAddress = (address: string): string => {
  const bytes = addressBytes(address);
  if (bytes === undefined) return address;
  return (embedded(bytes) ?? bytes).join(".");
};

const isInternalIpv4 = (bytes: ReadonlyArray<number>): boolean =>
  (bytes[0] ?? 0) >= 224 || METADATA_SERVERS.includes(bytes.join(".")) || RANGES.some((range) => isIn(bytes, range));

/** A number of leading bits. */
type Range = readonly [start: ReadonlyArray<number>, bits: number];

/** Source: IANA IPv4 Special-Purpose Address Registry. */
const RANGES: ReadonlyArray<Range> = [
  [[0], 8],
  [[127], 8],
  [[169, 254], 16],
  [[192, 0, 0], 24],
  [[192, 0, 2], 24],
  [[192, 88, 99], 24],
  [[198, 18], 15],
  [[198, 51, 100], 24],
  [[203, 0, 113], 24],
];

/**
 * Source: IANA IPv6 Special-Purpose Address Registry, and RFC 3879 for fec0::/10. 2001::/23 has Teredo; ::/96 is judged by the
 * address within.
 */
const RANGES_IPV6: ReadonlyArray<Range> = [
  [[0x01, 0x00, 0, 0, 0, 0, 0, 0], 63],
  [[0x20, 0x01, 0x00], 23],
  [[0x20, 0x01, 0x0d, 0xb8], 32],
  [[0x3f, 0xff, 0x00], 20],
  [[0x5f, 0x00], 16],
  [[0xfe, 0x80], 10],
  [[0xfe, 0xc0], 10],
  [[0xff], 8],
];

const isIn = (bytes: ReadonlyArray<number>, [start, bits]: Range): boolean =>
  start.every((byte, index) => {
    const mask = 0xff00 >> Math.min(8, Math.max(0, bits - 8 * index));
    return ((bytes[index] ?? 0) & mask & 0xff) === (byte & mask & 0xff);
  });

/**
 * Outside of these: metadata servers of Azure, Alibaba Cloud, of AWS and Google Cloud, and the DNS servers of Alibaba Cloud.
 */
const METADATA_SERVERS: ReadonlyArray<string> = [
  "168.63.129.16",
  "100.100.100.200",
  "100.100.2.136",
  "100.100.2.138",
];
const METADATA_SERVERS_IPV6: ReadonlyArray<string> = ["fd00:ec2::254", "fd20:ce::254"];

const isInternalIpv6 = (bytes: ReadonlyArray<number>): boolean =>
  METADATA_SERVERS_IPV6.some((server) => addressBytes(server)?.join() === bytes.join()) ||
  // :: and ::1 have 0.0.0.0 and 0.0.0.1 within.
  within(bytes).some(isInternalIpv4) || RANGES_IPV6.some((range) => isIn(bytes, range));

/** The IPv4 address that reaches the same host; undefined: none. */
const embedded = (bytes: ReadonlyArray<number>): ReadonlyArray<number> | undefined => within(bytes)[0];

/** Prefixes of 96 bits before an IPv4 address: compatible, mapped, translated (RFC 2765 and RFC 6052). */
const PREFIXES: ReadonlyArray<Range> = [
  [Array.from({ length: 12 }, () => 0), 96],
  [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], 96],
  [[0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0], 96],
  [[0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], 96],
];
/** 64:ff9b:1::/48 may be cut into shorter prefixes, whose address stands elsewhere, around byte 8. */
const LOCAL_TRANSLATION: Range = [[0, 0x64, 0xff, 0x9b, 0, 1], 48];
const SIX_TO_FOUR: Range = [[0x20, 0x02], 16];

/** The IPv4 addresses within an IPv6 address, as far as its form says that there are some. */
const within = (bytes: ReadonlyArray<number>): ReadonlyArray<ReadonlyArray<number>> => {
  if (bytes.length === 4) return [];
  const last = bytes.slice(12);
  const picked = (...places: ReadonlyArray<number>) => places.map((place) => bytes[place] ?? 0);
  if (PREFIXES.some((prefix) => isIn(bytes, prefix))) return [last];
  if (isIn(bytes, LOCAL_TRANSLATION)) {
    if (bytes.slice(6, 12).every((byte) => byte === 0)) return [last];
    // 0 is where the address does not stand.
    return [last, picked(6, 7, 9, 10), picked(7, 9, 10, 11), picked(9, 10, 11, 12)].filter(([first]) => first !== 0);
  }
  if (isIn(bytes, SIX_TO_FOUR)) return [bytes.slice(2, 6)];
  // ISATAP, RFC 5214: within any network.
  const isIsatap = ((bytes[8] ?? 0) & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
  return isIsatap ? [last] : [];
};
