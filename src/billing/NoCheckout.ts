import { Effect } from "effect"
import { Checkout } from "./Checkout.ts"
import { notSetUp, NoWebhook } from "./Subscription.ts"

/** Production without a processor: nobody can pay, and what was paid elsewhere, or played, ends with its period. */
export const noCheckout = Checkout.of({
  processor: "none",
  createCustomer: () => notSetUp,
  open: () => notSetUp,
  stateOf: () => Effect.succeed("over"),
  close: () => notSetUp,
  accountOf: () => notSetUp,
  subscriptions: () => notSetUp,
  switchPlan: () => notSetUp,
  cancel: () => notSetUp,
  readEvent: () => new NoWebhook()
})
