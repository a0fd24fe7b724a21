/** The embedded base documents by file name. Made by tools/bases.ts; do not edit. */
import metaReferenceGpu04 from "../../../configs/bases/meta-reference-gpu-0.4.yaml" with { type: "text" };
import postgresDemo02 from "../../../configs/bases/postgres-demo-0.2.yaml" with { type: "text" };
import postgresDemo03 from "../../../configs/bases/postgres-demo-0.3.yaml" with { type: "text" };
import postgresDemo04 from "../../../configs/bases/postgres-demo-0.4.yaml" with { type: "text" };
import postgresDemo05 from "../../../configs/bases/postgres-demo-0.5.yaml" with { type: "text" };
import postgresDemo06 from "../../../configs/bases/postgres-demo-0.6.yaml" with { type: "text" };
import postgresDemo07 from "../../../configs/bases/postgres-demo-0.7.yaml" with { type: "text" };
import postgresDemo08 from "../../../configs/bases/postgres-demo-0.8.yaml" with { type: "text" };
import postgresDemo10 from "../../../configs/bases/postgres-demo-1.0.yaml" with { type: "text" };
import postgresDemo11 from "../../../configs/bases/postgres-demo-1.1.yaml" with { type: "text" };
import postgresDemo12 from "../../../configs/bases/postgres-demo-1.2.yaml" with { type: "text" };
import postgresDemo13 from "../../../configs/bases/postgres-demo-1.3.yaml" with { type: "text" };
import postgresDemo14 from "../../../configs/bases/postgres-demo-1.4.yaml" with { type: "text" };
import postgresDemo15 from "../../../configs/bases/postgres-demo-1.5.yaml" with { type: "text" };
import remoteVllm02 from "../../../configs/bases/remote-vllm-0.2.yaml" with { type: "text" };
import starter02 from "../../../configs/bases/starter-0.2.yaml" with { type: "text" };
import starter03 from "../../../configs/bases/starter-0.3.yaml" with { type: "text" };
import starter04 from "../../../configs/bases/starter-0.4.yaml" with { type: "text" };
import starter05 from "../../../configs/bases/starter-0.5.yaml" with { type: "text" };
import starter06 from "../../../configs/bases/starter-0.6.yaml" with { type: "text" };
import starter07 from "../../../configs/bases/starter-0.7.yaml" with { type: "text" };
import starter08 from "../../../configs/bases/starter-0.8.yaml" with { type: "text" };
import starter10 from "../../../configs/bases/starter-1.0.yaml" with { type: "text" };
import starter11 from "../../../configs/bases/starter-1.1.yaml" with { type: "text" };
import starter12 from "../../../configs/bases/starter-1.2.yaml" with { type: "text" };
import starter13 from "../../../configs/bases/starter-1.3.yaml" with { type: "text" };
import starter14 from "../../../configs/bases/starter-1.4.yaml" with { type: "text" };
import starter15 from "../../../configs/bases/starter-1.5.yaml" with { type: "text" };

export const BASES: Readonly<Record<string, string>> = {
  "meta-reference-gpu-0.4.yaml": metaReferenceGpu04,
  "postgres-demo-0.2.yaml": postgresDemo02,
  "postgres-demo-0.3.yaml": postgresDemo03,
  "postgres-demo-0.4.yaml": postgresDemo04,
  "postgres-demo-0.5.yaml": postgresDemo05,
  "postgres-demo-0.6.yaml": postgresDemo06,
  "postgres-demo-0.7.yaml": postgresDemo07,
  "postgres-demo-0.8.yaml": postgresDemo08,
  "postgres-demo-1.0.yaml": postgresDemo10,
  "postgres-demo-1.1.yaml": postgresDemo11,
  "postgres-demo-1.2.yaml": postgresDemo12,
  "postgres-demo-1.3.yaml": postgresDemo13,
  "postgres-demo-1.4.yaml": postgresDemo14,
  "postgres-demo-1.5.yaml": postgresDemo15,
  "remote-vllm-0.2.yaml": remoteVllm02,
  "starter-0.2.yaml": starter02,
  "starter-0.3.yaml": starter03,
  "starter-0.4.yaml": starter04,
  "starter-0.5.yaml": starter05,
  "starter-0.6.yaml": starter06,
  "starter-0.7.yaml": starter07,
  "starter-0.8.yaml": starter08,
  "starter-1.0.yaml": starter10,
  "starter-1.1.yaml": starter11,
  "starter-1.2.yaml": starter12,
  "starter-1.3.yaml": starter13,
  "starter-1.4.yaml": starter14,
  "starter-1.5.yaml": starter15,
};
