/** `/metrics` as a Prometheus reads it. */
import { request } from "node:https";

/** Without a check of the certificate, as Prometheus is configured for a self-signed one. */
export const scraped = (
  port: number,
  token?: string,
  localAddress?: string,
): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const sent = request({
      host: "127.0.0.1",
      port,
      path: "/metrics",
      rejectUnauthorized: false,
      agent: false,
      ...(localAddress === undefined ? {} : { localAddress }),
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    }, (response) => {
      let text = "";
      response.on("data", (part) => void (text += part));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on("error", reject);
    sent.end();
  });
