import { Business } from "#src/businesses/Business.ts"
import { PhoneCode } from "#src/businesses/phone-code.ts"
import { CodeSent, Verification } from "#src/businesses/Verification.ts"
import { Input } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { tool } from "./Tool.ts"

const businessId = { businessId: Schema.String }
const directory = { toolset: "directory", needs: "session", lowerCaseCodes: true } as const

export const verificationTools = Effect.map(Verification, (verification) => [
  tool({
    ...directory,
    name: "verify_phone",
    title: "Send a verification code",
    description:
      "Sends a code by SMS to the business's contact.phone; ask its owner for it, then call confirm_phone. " +
      "At most 3 a day go to one number.",
    effect: "create",
    params: Input(businessId),
    success: CodeSent,
    run: (input) => verification.sendCode(input.businessId)
  }),
  tool({
    ...directory,
    name: "confirm_phone",
    title: "Confirm the phone number",
    description:
      "Confirms a business's telephone number with the code that verify_phone sent; five tries a number. The " +
      "business's verificationLevel says what it brought; request_review asks for more.",
    effect: "create",
    params: Input({ ...businessId, ...PhoneCode.fields }),
    success: Business,
    run: ({ businessId, code }) => verification.confirm(businessId, code)
  }),
  tool({
    ...directory,
    name: "request_review",
    title: "Ask for a review",
    description:
      "Asks the operator for premium_verified, free of charge; the business must be business_verified (verify_phone). " +
      "get_business shows when it is decided.",
    effect: "update",
    params: Input(businessId),
    success: Business,
    run: (input) => verification.requestReview(input.businessId)
  })
])
