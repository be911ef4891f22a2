import { once } from "node:events"
import { createServer } from "node:http"
import { type AddressInfo } from "node:net"
import { Stripe } from "stripe"
import { afterAll } from "vitest"
import { FakeStripe } from "./fake-stripe.ts"
import { secretKey } from "./stripe-objects.ts"

export const webhookSecret = "whsec_test_0123456789abcdef"
export const prices = { developer: "price_dev1", pro: "price_pro1", enterprise: "price_ent1" } as const

/** The header with which Stripe signs a message. */
export const signatureOf = (payload: string, secret = webhookSecret, timestamp = Math.floor(Date.now() / 1000)) =>
  new Stripe(secretKey).webhooks.generateTestHeaderString({ payload, secret, timestamp })

/** Settings of a platform that is paid by it. */
export const stripeVariables = (url: string) => ({
  STRIPE_SECRET_KEY: secretKey,
  STRIPE_WEBHOOK_SECRET: webhookSecret,
  STRIPE_PRICE_DEVELOPER: prices.developer,
  STRIPE_PRICE_PRO: prices.pro,
  STRIPE_PRICE_ENTERPRISE: prices.enterprise,
  STRIPE_API_URL: url
})

/** One for the tests of a file; its state is of this process. */
export const useStripe = async () => {
  const stripe = new FakeStripe()
  const server = createServer((request, response) => void stripe.serve(request, response))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  stripe.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  afterAll(() => void server.close())
  return stripe
}
