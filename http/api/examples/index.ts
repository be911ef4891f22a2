import { accountExamples } from "./accounts.ts"
import { billingExamples } from "./billing.ts"
import { businessExamples } from "./businesses.ts"
import { directoryExamples } from "./directory.ts"
import { type Examples } from "./Example.ts"
import { hubExamples } from "./hub.ts"
import { serverExamples } from "./servers.ts"

/** An example for every operation; test/http/examples.test.ts checks that each is true. */
export const examples: Examples = {
  ...accountExamples,
  ...serverExamples,
  ...billingExamples,
  ...businessExamples,
  ...directoryExamples,
  ...hubExamples
}
