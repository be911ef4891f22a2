import { Data } from "#http/answers/envelope.ts"
import { businessPath } from "#http/api/businesses/Api.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { NoBody } from "#http/callers/NoBody.ts"
import { RouteTraits } from "#http/traits/Traits.ts"
import { Forbidden } from "#src/accounts/Policy.ts"
import { Business, BusinessNotFound } from "#src/businesses/Business.ts"
import {
  CodeJustSent,
  CodeRefused,
  NoPhone,
  NotVerifiedYet,
  PhoneCode,
  SmsUnavailable
} from "#src/businesses/phone-code.ts"
import { SmsCountryRefused, SmsLimitReached } from "#src/businesses/sms-limits.ts"
import { CodeSent } from "#src/businesses/Verification.ts"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"

const root = "/api/v1/ready/businesses/:businessId/verification"

export class VerificationApi extends HttpApiGroup.make("verification")
  .add(
    HttpApiEndpoint.post("sendCode", `${root}/phone`)
      .setPath(businessPath)
      .addSuccess(Data(CodeSent))
      .addError(NoPhone)
      .addError(CodeJustSent)
      .addError(SmsLimitReached)
      .addError(SmsCountryRefused)
      .addError(SmsUnavailable)
      .middleware(NoBody)
      .annotate(OpenApi.Summary, "Send a code by SMS to the business's telephone number")
      .annotate(
        OpenApi.Description,
        "Six digits, good for 10 minutes and 5 tries, which an account's codes for one number share. One a minute; in a " +
          "day an account has 10, 3 of them to one number, and 3 in its first day; to one number go 9 of all accounts; " +
          "the operator limits the messages of all accounts, and half of them at most are for accounts in their first " +
          "day: 429 with the limit in details. A message that the gateway refused does not count; twice as many tries " +
          "as messages are the most."
      )
  )
  .add(
    HttpApiEndpoint.post("confirm", `${root}/phone/confirm`)
      .setPath(businessPath)
      .setPayload(PhoneCode)
      .addSuccess(Data(Business))
      .addError(CodeRefused)
      .annotate(OpenApi.Summary, "Confirm the telephone number with the code")
      .annotate(
        OpenApi.Description,
        "The business is phone_verified, and business_verified once its owner's account is 30 days old. " +
          "Another number in contact.phone is unverified again."
      )
  )
  .add(
    HttpApiEndpoint.post("requestReview", `${root}/review`)
      .setPath(businessPath)
      .addSuccess(Data(Business))
      .addError(NotVerifiedYet)
      .middleware(NoBody)
      .annotate(OpenApi.Summary, "Ask for the review that grants premium_verified")
  )
  .addError(BusinessNotFound)
  .addError(Forbidden)
  .middleware(Authentication)
  .annotate(RouteTraits, { takes: "session" })
  .annotate(OpenApi.Title, "Verification")
{}
