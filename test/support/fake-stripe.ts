import { type IncomingMessage, type ServerResponse } from "node:http"
import { text } from "node:stream/consumers"
import { addMonth, missing, refusal, type Reply, secretKey, type Session, type Subscription } from "./stripe-objects.ts"

/** Stripe's API as far as billing uses it, with its state, its idempotency keys and its events. */
export class FakeStripe {
  readonly customers = new Map<string, { readonly id: string; readonly metadata: Record<string, string> }>()
  readonly sessions = new Map<string, Session>()
  readonly subscriptions = new Map<string, Subscription>()
  /** Bodies of events, oldest first. */
  readonly events: Array<string> = []
  /** `METHOD /path` of each request, in order, and whether it had an idempotency key. */
  readonly asked: Array<{ readonly call: string; readonly key: string | undefined }> = []
  /** What the next requests meet: a status, or `cut`: the work is done and no answer comes. */
  readonly faults: Array<number | "cut"> = []
  /** How many requests go well before that. */
  skip = 0
  /** Each first payment that was taken. */
  charges = 0
  /** What is answered in place of Stripe, by `METHOD /path?query`; undefined leaves it to Stripe. */
  instead: (call: string) => { readonly status?: number; readonly text: string } | undefined = () => undefined
  /** Answers wait for it. */
  held: Promise<void> = Promise.resolve()
  /** Answers are made at once, and wait for it. */
  stale: Promise<void> | undefined
  now: () => number = Date.now
  #kept = new Map<string, { readonly content: string; reply: Reply | undefined }>()
  #last = 0
  url = ""

  #id = (prefix: string) => `${prefix}_${String(++this.#last).padStart(8, "0")}`
  #seconds = () => Math.floor(this.now() / 1000)

  /** Tells of a change, as it is at this moment. */
  tell(type: string, object: unknown) {
    const event = { id: this.#id("evt"), object: "event", type, created: this.#seconds(), data: { object } }
    this.events.push(JSON.stringify(event))
  }

  /** The buyer pays on Stripe's page. */
  pay(sessionId: string, status = "active") {
    const session = this.sessions.get(sessionId)
    if (session?.status !== "open") throw new Error(`the session ${sessionId} can't be paid`)
    session.status = "complete"
    this.charges++
    const start = this.#seconds()
    const subscription: Subscription = {
      id: this.#id("sub"),
      object: "subscription",
      customer: session.customer,
      created: start,
      status,
      cancel_at: null,
      cancel_at_period_end: false,
      metadata: session.metadata,
      items: {
        object: "list",
        data: [{
          id: this.#id("si"),
          price: { id: session.price },
          current_period_start: start,
          current_period_end: addMonth(start)
        }]
      }
    }
    this.subscriptions.set(subscription.id, subscription)
    session.subscription = subscription.id
    this.tell("customer.subscription.created", subscription)
    this.tell("checkout.session.completed", session)
    return subscription
  }

  /** Changes a subscription from elsewhere: the dashboard, or a payment. */
  change(subscription: Subscription, fields: Partial<Pick<Subscription, "status" | "cancel_at_period_end">>) {
    Object.assign(subscription, fields)
    this.tell(
      subscription.status === "canceled" ? "customer.subscription.deleted" : "customer.subscription.updated",
      subscription
    )
  }

  /** What time does. */
  pass() {
    for (const subscription of this.subscriptions.values()) {
      const [item] = subscription.items.data
      while (item !== undefined && subscription.status !== "canceled" && item.current_period_end <= this.#seconds()) {
        if (subscription.cancel_at_period_end) {
          this.change(subscription, { status: "canceled" })
        } else {
          item.current_period_start = item.current_period_end
          item.current_period_end = addMonth(item.current_period_start)
          this.tell("invoice.paid", { object: "invoice", customer: subscription.customer })
        }
      }
    }
    for (const session of this.sessions.values()) {
      if (session.status === "open" && session.expires_at <= this.#seconds()) session.status = "expired"
    }
  }

  #createSession(form: URLSearchParams): Reply {
    const customer = form.get("customer") ?? ""
    const expiresIn = Number(form.get("expires_at")) - this.#seconds()
    if (!this.customers.has(customer)) return missing("customer", customer)
    if (expiresIn < 1800 || expiresIn > 86_400) return refusal(400, { param: "expires_at", message: "out of range" })
    const id = this.#id("cs")
    const session: Session = {
      id,
      object: "checkout.session",
      customer,
      client_reference_id: form.get("client_reference_id") ?? "",
      url: `https://checkout.stripe.test/${id}`,
      expires_at: Number(form.get("expires_at")),
      price: form.get("line_items[0][price]") ?? "",
      success_url: form.get("success_url") ?? "",
      cancel_url: form.get("cancel_url") ?? "",
      metadata: {
        accountId: form.get("subscription_data[metadata][accountId]") ?? "",
        plan: form.get("subscription_data[metadata][plan]") ?? ""
      },
      status: "open",
      subscription: null
    }
    this.sessions.set(id, session)
    return { status: 200, body: session }
  }

  #expire(session: Session): Reply {
    if (session.status !== "open") return refusal(400, { message: "Only open sessions can be expired" })
    session.status = "expired"
    return { status: 200, body: session }
  }

  #update(subscription: Subscription, form: URLSearchParams): Reply {
    if (subscription.status === "canceled") return missing("id", subscription.id)
    const [item] = subscription.items.data
    const price = form.get("items[0][price]")
    if (price !== null && item !== undefined) {
      if (form.get("items[0][id]") !== item.id || form.get("proration_behavior") !== "create_prorations") {
        return refusal(400, { message: "a second item, or no proration" })
      }
      item.price = { id: price }
      subscription.metadata = { ...subscription.metadata, plan: form.get("metadata[plan]") ?? "" }
    }
    const cancels = form.get("cancel_at_period_end")
    this.change(subscription, cancels === null ? {} : { cancel_at_period_end: cancels === "true" })
    return { status: 200, body: subscription }
  }

  #list(query: URLSearchParams): Reply {
    const customer = query.get("customer") ?? ""
    if (!this.customers.has(customer)) return missing("customer", customer)
    const data = [...this.subscriptions.values()].filter((each) => each.customer === customer).reverse()
    return { status: 200, body: { object: "list", data, has_more: false, url: "/v1/subscriptions" } }
  }

  #answer(method: string, url: URL, form: URLSearchParams): Reply {
    this.pass()
    const [, kind, id = "", verb] = /^\/v1\/(customers|checkout\/sessions|subscriptions)(?:\/(\w+)(?:\/(\w+))?)?$/
      .exec(url.pathname) ?? []
    if (kind === "customers" && method === "GET") {
      const customer = this.customers.get(id)
      return customer === undefined ? missing("id", id) : { status: 200, body: { object: "customer", ...customer } }
    }
    if (kind === "customers" && method === "POST") {
      const customer = { id: this.#id("cus"), metadata: { accountId: form.get("metadata[accountId]") ?? "" } }
      this.customers.set(customer.id, customer)
      return { status: 200, body: { object: "customer", ...customer } }
    }
    if (kind === "checkout/sessions") {
      if (id === "") return this.#createSession(form)
      const session = this.sessions.get(id)
      if (session === undefined) return missing("session", id)
      if (verb === "expire") return this.#expire(session)
      const subscription = this.subscriptions.get(session.subscription ?? "") ?? null
      const expands = url.searchParams.get("expand[0]") === "subscription"
      return { status: 200, body: { ...session, ...(expands ? { subscription } : {}) } }
    }
    if (kind === "subscriptions") {
      if (id === "") return this.#list(url.searchParams)
      const subscription = this.subscriptions.get(id)
      if (subscription === undefined) return missing("id", id)
      return method === "POST" ? this.#update(subscription, form) : { status: 200, body: subscription }
    }
    throw new Error(`nobody expected ${method} ${url.pathname}`)
  }

  /** The same key has the same answer, for the same content. */
  async #once(key: string | undefined, content: string, answer: () => Reply): Promise<Reply> {
    const kept = key === undefined ? undefined : this.#kept.get(key)
    if (kept !== undefined) {
      if (kept.content !== content) {
        return { status: 400, body: { error: { type: "idempotency_error", message: "other parameters" } } }
      }
      return kept.reply ?? { status: 409, body: { error: { type: "invalid_request_error", message: "in use" } } }
    }
    const entry: { readonly content: string; reply: Reply | undefined } = { content, reply: undefined }
    if (key !== undefined) this.#kept.set(key, entry)
    await this.held
    if (this.skip > 0) {
      this.skip--
      entry.reply = answer()
      return entry.reply
    }
    const [fault] = this.faults
    entry.reply = typeof fault === "number" && fault >= 500 ? undefined : answer()
    if (typeof fault === "number") {
      this.faults.shift()
      entry.reply = { status: fault, body: { error: { type: "api_error", message: "a fault of the test" } } }
    }
    return entry.reply ?? refusal(500, {})
  }

  async serve(request: IncomingMessage, response: ServerResponse) {
    const body = await text(request)
    const url = new URL(request.url ?? "", "http://stripe.test")
    const key = request.headers["idempotency-key"]?.toString()
    const { method = "" } = request
    this.asked.push({ call: `${method} ${url.pathname}`, key })
    if (request.headers.authorization !== `Bearer ${secretKey}`) {
      response.writeHead(401).end(JSON.stringify({ error: { message: `Invalid API Key provided: ${secretKey}` } }))
      return
    }
    const other = this.instead(`${method} ${request.url}`)
    if (other !== undefined) return void response.writeHead(other.status ?? 200).end(other.text)
    const reply = await this.#once(
      key,
      `${method} ${url.pathname} ${body}`,
      () => this.#answer(method, url, new URLSearchParams(body))
    )
    const sent = JSON.stringify(reply.body)
    await this.stale
    if (this.faults[0] === "cut") {
      this.faults.shift()
      return response.destroy()
    }
    response.writeHead(reply.status, {
      "content-type": "application/json",
      "request-id": "req_test",
      ...(reply.status >= 500 ? { "stripe-should-retry": "false" } : {})
    }).end(sent)
  }
}
