import { type Account, dataOf } from "./account.ts"
import { type Berth } from "./Berth.ts"
import { PlainBrowser } from "./pages.ts"

export type Decision = "pay" | "decline" | "cancel"

/** The path of the page where the account pays for a plan. */
export const checkoutPath = async (berth: Berth, account: Account, plan = "developer") => {
  const { url } = dataOf(await account.post<{ data: { url: string } }>("/v1/billing/subscribe", { plan }))
  return url.slice(berth.url.length)
}

/** Opens a checkout in a browser of its own and decides there. */
export const decideOn = async (
  berth: Pick<Berth, "request" | "url">,
  path: string,
  decision: Decision,
  renewals = "paid"
) => {
  const browser = new PlainBrowser(berth)
  await browser.go(path)
  const answer = await browser.submit({ decision, renewals })
  return { browser, answer }
}

/** A user who pays for a plan on the stand-in's page. */
export const subscriber = async (berth: Berth, plan = "developer", renewals = "paid") => {
  const account = await berth.signUp()
  const { answer } = await decideOn(berth, await checkoutPath(berth, account, plan), "pay", renewals)
  if (answer.status !== 303) throw new Error(`expected a payment, got ${answer.status}: ${answer.text}`)
  return account
}

interface Status {
  readonly data: {
    readonly plan: string
    readonly status: string
    readonly currentPeriodStart: string
    readonly currentPeriodEnd: string
    readonly usage: { readonly requestCount: number }
    readonly cancelAtPeriodEnd?: true
  }
}

export const billingOf = async (account: Account) => dataOf(await account.get<Status>("/v1/billing"))

/** `developer active`, or `developer active, canceled` once it was. */
export const statusOf = async (account: Account) => {
  const { cancelAtPeriodEnd, plan, status } = await billingOf(account)
  return cancelAtPeriodEnd === true ? `${plan} ${status}, canceled` : `${plan} ${status}`
}
