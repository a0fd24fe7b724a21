/** Defects that were observed on real servers and that no config prevents; docs/compatibility.md lists them for users. */
export interface ServerDefect {
  readonly servers: string;
  readonly happens: string;
  readonly wayOut: string;
}

export const SERVER_DEFECTS: readonly ServerDefect[] = [
  {
    servers: "Llama Stack 0.7",
    happens:
      "The server creates its tables in a new PostgreSQL database at the first request that writes. Responses requested " +
      "at the same time are answered as `completed` but not stored; only the server's log reports it " +
      '(`relation "responses" does not exist`).',
    wayOut: "After the first start, send one request and wait for its answer before you send more.",
  },
  {
    servers: "Llama Stack 0.6 – OGX 0.8",
    happens: "If a shield was registered through the API only, `starter` fails at its next start.",
    wayOut: "List shields in `spec.resources.shields` instead of registering them through the API.",
  },
  {
    servers: "OGX 1.4, 1.5",
    happens:
      "With more than one worker (`workload.workers`), two of them may create the same table at once, and the first start fails.",
    wayOut: "Nothing: Kubernetes restarts the container, and the tables exist by then.",
  },
];
