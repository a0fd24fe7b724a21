/** The way to a Service through the API server, for programs outside the cluster. It checks no certificate of the Service. */
import type { ServiceTarget } from "../../core/resources/service.ts";
import type { Connection } from "./transport.ts";

/** URL without a slash at its end. */
export const proxyUrl = ({ url }: Connection, { namespace, service, port, scheme }: ServiceTarget): string =>
  `${url}/api/v1/namespaces/${namespace}/services/${scheme}:${service}:${port}/proxy`;

/** Options of a client for the API server; the caller closes it. */
export const proxyClientOptions = ({ caPem, clientCertificate }: Connection) => {
  const authority = caPem();
  return { ...(authority === undefined ? {} : { caCerts: [authority] }), ...(clientCertificate ?? {}) };
};

/** The token is for the API server, which does not pass it on. */
export const proxyHeaders = (connection: Connection): Readonly<Record<string, string>> => {
  const token = connection.token();
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
};
