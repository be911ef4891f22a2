import { Accounts } from "#src/accounts/Accounts.ts"
import { Me } from "#src/accounts/User.ts"
import { NoInput } from "#src/shared/text.ts"
import { Effect } from "effect"
import { tool } from "./Tool.ts"

export const accountTools = Effect.map(Accounts, (accounts) => [
  tool({
    name: "whoami",
    title: "Who am I",
    description: "Tells which account and plan you act for, and with which credential: its project and scopes.",
    toolset: "deploy",
    effect: "read",
    needs: "anybody",
    params: NoInput,
    success: Me,
    run: () => accounts.me
  })
])
