/** The key with which the platform calls the stand-in of Stripe. */
export const secretKey = "sk_test_0123456789abcdef"

export interface Subscription {
  readonly id: string
  readonly object: "subscription"
  readonly customer: string
  readonly created: number
  status: string
  cancel_at: number | null
  cancel_at_period_end: boolean
  metadata: Record<string, string>
  readonly items: {
    readonly object: "list"
    readonly data: Array<
      { readonly id: string; price: { id: string }; current_period_start: number; current_period_end: number }
    >
  }
}

export interface Session {
  readonly id: string
  readonly object: "checkout.session"
  readonly customer: string
  readonly client_reference_id: string
  readonly url: string
  readonly expires_at: number
  readonly price: string
  readonly success_url: string
  readonly cancel_url: string
  readonly metadata: Record<string, string>
  status: "open" | "complete" | "expired"
  subscription: string | null
}

export interface Reply {
  readonly status: number
  readonly body: unknown
}

export const refusal = (status: number, error: Readonly<Record<string, unknown>>): Reply => ({
  status,
  body: { error: { type: "invalid_request_error", ...error } }
})
export const missing = (param: string, id: string) =>
  refusal(404, { code: "resource_missing", param, message: `No such ${param}: '${id}'` })

export const addMonth = (seconds: number) => {
  const at = new Date(seconds * 1000)
  return Math.floor(new Date(at).setUTCMonth(at.getUTCMonth() + 1) / 1000)
}
