import { Layer } from "effect"
import { Imports } from "./Imports.ts"
import { ImportsRepo } from "./ImportsRepo.ts"
import { Previews } from "./Previews.ts"

export const ImportsLive = Imports.Default.pipe(Layer.provide(Previews.Default), Layer.provide(ImportsRepo.Default))
