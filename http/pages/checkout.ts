import { Billing } from "#src/billing/Billing.ts"
import { Renewals } from "#src/billing/embedded-subscription.ts"
import { type EmbeddedCheckoutView, EmbeddedPayments } from "#src/billing/EmbeddedPayments.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { HttpRouter } from "@effect/platform"
import { Effect, Option, Schema } from "effect"
import { checkoutPage, planTitle } from "./checkout-page.ts"
import { type Fault } from "./fields.ts"
import { readForm } from "./form.ts"
import { html } from "./html.ts"
import { currentQuery, linksOf } from "./links.ts"
import { messagePage } from "./message-page.ts"
import { subscriptionWords } from "./plan-words.ts"
import { page, seeOther } from "./respond.ts"
import { makeTickets } from "./tickets.ts"
import { makeVisit } from "./visit.ts"

const declined: Fault = { message: "The payment was declined, and nothing was paid. Try again, or cancel." }
const stale: Fault = { message: "The page was open for too long, or without cookies. Please decide again." }

/** The stand-in's page of a payment, and the page where a processor's one leads back to. */
export const makeCheckout = Effect.gen(function*() {
  const billing = yield* Billing
  const payments = yield* EmbeddedPayments
  const settings = yield* CurrentSettings
  const tickets = yield* makeTickets
  const links = linksOf(settings)
  const usage = { href: links.usage(), text: "Usage and limits" }
  const closed = page(
    messagePage({
      title: "This checkout is closed",
      message: [
        "Nothing was paid here. Another one was begun since, it was open for too long, or payments are taken elsewhere " +
        "now. To pay, begin again where you chose the plan."
      ],
      link: usage
    }),
    410
  )
  const unknown = page(
    messagePage({
      title: "There is no such checkout",
      message: [
        "Its address is not whole, or another one was begun since, or it was long ago. Your account's plan is under:"
      ],
      link: usage
    }),
    404
  )
  const idInPath = Effect.map(HttpRouter.params, ({ checkoutId = "" }) => checkoutId)
  const renewalsIn = (form: URLSearchParams) => Schema.decodeUnknownOption(Renewals)(form.get("renewals"))

  const show = Effect.fnUntraced(function*(
    id: string,
    { plan }: EmbeddedCheckoutView,
    renewals: Renewals = "paid",
    fault?: Fault
  ) {
    const { holder, remember } = yield* makeVisit(settings)
    const text = checkoutPage({
      action: links.checkout(id),
      ticket: yield* tickets.issue({ form: "checkout", holder, query: id }),
      plan,
      renewals,
      faults: fault === undefined ? [] : [fault]
    })
    return yield* remember(page(text, fault === undefined ? 200 : 422))
  })

  /** For a checkout that is open; a paid one leads on, so that a payment sent twice ends like one. */
  const ofOpen = <E, R>(
    run: (id: string, found: EmbeddedCheckoutView) => Effect.Effect<ReturnType<typeof page>, E, R>
  ) =>
    Effect.gen(function*() {
      const id = yield* idInPath
      const found = yield* payments.find(id)
      if (found === undefined) return unknown
      if (found.state === "paid") return seeOther(found.returnUrl)
      return found.state === "closed" ? closed : yield* run(id, found)
    })

  const decide = ofOpen(Effect.fnUntraced(function*(id: string, found: EmbeddedCheckoutView) {
    const form = yield* readForm(settings)
    const { holder } = yield* makeVisit(settings)
    const renewals = Option.getOrElse(renewalsIn(form), () => "paid" as const)
    if (!(yield* tickets.isValid(form.get("ticket"), { form: "checkout", holder, query: id }))) {
      return yield* show(id, found, renewals, stale)
    }
    switch (form.get("decision")) {
      case "pay":
        yield* payments.pay(id, renewals)
        return seeOther(found.returnUrl)
      case "cancel":
        return seeOther(`${found.returnUrl}?canceled`)
      default:
        return yield* show(id, found, renewals, declined)
    }
  }))

  /** Reads what was paid from the processor, which may not have told it yet. */
  const returned = Effect.gen(function*() {
    const found = yield* billing.returned(yield* idInPath)
    if (Option.isNone(found)) return unknown
    const { current, payAt, plan } = found.value
    if (current !== undefined) {
      const title = `You are on the ${planTitle(current.plan)} plan`
      return page(
        messagePage({ title, message: [...subscriptionWords(current), "You can close this page."], link: usage })
      )
    }
    if (new URLSearchParams(yield* currentQuery).has("canceled")) {
      return page(messagePage({
        title: "Nothing was paid",
        message: payAt === null
          ? ["Your plan stays as it is. The payment page is closed: to pay, begin again where you chose the plan."]
          : [`Your plan stays as it is. You can pay for the ${planTitle(plan)} plan while the payment page is open.`],
        link: payAt === null ? usage : { href: payAt, text: "Back to the payment" }
      }))
    }
    return page(messagePage({
      title: `The ${planTitle(plan)} plan is not paid yet`,
      message: [html`The processor has not confirmed the payment. If you have paid, load this page again in a minute.`],
      link: { href: links.returned(yield* idInPath), text: "Load again" }
    }))
  })

  return { show: ofOpen((id, found) => show(id, found)), decide, returned } as const
})
