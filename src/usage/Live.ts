import { Layer } from "effect"
import { MachineMetering } from "./MachineMetering.ts"
import { RequestMetering } from "./RequestMetering.ts"
import { Usage } from "./Usage.ts"
import { UsageRepo } from "./UsageRepo.ts"

/** For the gateway. */
export const RequestMeteringLive = Layer.provide(RequestMetering.Default, UsageRepo.Default)

export const UsageLive = Layer.merge(
  RequestMeteringLive,
  Layer.provide(Layer.merge(MachineMetering.Default, Usage.Default), UsageRepo.Default)
)
