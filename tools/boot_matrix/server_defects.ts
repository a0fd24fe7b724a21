/** Defects that were seen on real servers and that no config can work around: users have to know them. */
export interface ServerDefect {
  readonly servers: string;
  readonly happens: string;
  readonly wayOut: string;
}

export const SERVER_DEFECTS: readonly ServerDefect[] = [
  {
    servers: "Llama Stack 0.7",
    happens:
      "It makes its tables in a new PostgreSQL database at the first request that writes. Responses that others ask " +
      'for meanwhile are answered with `completed` and not kept; only its log says so (`relation "responses" does not exist`).',
    wayOut: "Let one request write before the others come.",
  },
  {
    servers: "Llama Stack 0.6 – OGX 0.8",
    happens: "A shield that was registered through the API alone ends the next start of `starter`.",
    wayOut: "Name shields in `spec.resources.shields` instead of registering them.",
  },
  {
    servers: "OGX 1.4, 1.5",
    happens: "Two workers (`workload.workers`) may meet when they make the same tables, and one start ends.",
    wayOut: "None needed: the pod starts again and finds the tables.",
  },
];
