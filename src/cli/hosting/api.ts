import { AccountsApi } from "#http/api/accounts/Api.ts"
import { DeploymentsApi } from "#http/api/deployments/Api.ts"
import { EnvironmentApi } from "#http/api/environment/Api.ts"
import { ProjectsApi } from "#http/api/projects/Api.ts"
import { RegistriesApi } from "#http/api/registries/Api.ts"
import { ServersApi } from "#http/api/servers/Api.ts"
import { CliFailure, otherVersion } from "#src/cli/CliFailure.ts"
import { ErrorAnswer, errorText } from "#src/cli/error-answer.ts"
import { exitCodeOf, exitCodes } from "#src/cli/exit-codes.ts"
import { HttpApi, HttpApiClient, HttpClient, HttpClientError, HttpClientRequest } from "@effect/platform"
import { Effect, Option, ParseResult, Schema } from "effect"

/** The part of the platform's API that commands use. */
const api = HttpApi.make("berth").add(AccountsApi).add(ProjectsApi).add(ServersApi).add(EnvironmentApi).add(
  DeploymentsApi
)
  .add(RegistriesApi)

const decodeError = Schema.decodeUnknownOption(Schema.parseJson(ErrorAnswer))

const refusalOf = (url: string, status: number, answer: typeof ErrorAnswer.Type | undefined) => {
  const said = answer === undefined ? `The installation answered with status ${status}` : errorText(answer)
  const again = status === 401 ? `. Log in again: berth login --url ${url}` : ""
  return new CliFailure({ message: said + again, code: exitCodeOf(status, answer?.error?.code) })
}

/**
 * A client of an installation; `bearer` is asked for each request. It fails with a `ResponseError`, or, without a token, with
 * a `RequestError`, whose cause says why.
 */
export const makeApi = (url: string, bearer: Effect.Effect<string, CliFailure>) =>
  HttpApiClient.make(api, {
    baseUrl: url,
    // Kept apart from a request that is refused before it is sent: that one is the user's to mend.
    transformResponse: Effect.mapError((error) =>
      ParseResult.isParseError(error)
        ? new CliFailure({ message: otherVersion(url), code: exitCodes.failed })
        : error
    ),
    transformClient: (client) =>
      client.pipe(
        HttpClient.mapRequestEffect((request) =>
          Effect.mapBoth(bearer, {
            onSuccess: (token) => HttpClientRequest.bearerToken(request, token),
            onFailure: (cause) => new HttpClientError.RequestError({ request, reason: "Transport", cause })
          })
        ),
        HttpClient.transform((effect, request) =>
          Effect.flatMap(effect, (response) =>
            response.status < 400 ?
              Effect.succeed(response) :
              Effect.flatMap(response.text, (body) =>
                new HttpClientError.ResponseError({
                  request,
                  response,
                  reason: "StatusCode",
                  cause: refusalOf(url, response.status, Option.getOrUndefined(decodeError(body)))
                })))
        )
      )
  })
export type Api = Effect.Effect.Success<ReturnType<typeof makeApi>>
