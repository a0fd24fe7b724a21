-- Health of a LlamaStackDistribution, of both API versions, for Argo CD. See docs/observability.md.
local metadata = obj.metadata or {}
local status = obj.status or {}

local function health(word, message)
  return { status = word, message = message }
end

local conditions = {}
for _, condition in ipairs(status.conditions or {}) do
  conditions[condition.type] = condition
end

local function is(type, value)
  return conditions[type] ~= nil and conditions[type].status == value
end

if metadata.deletionTimestamp ~= nil then
  return health("Progressing", "Deleting")
end

-- Before the first reconciliation, observedGeneration is -1.
local ready = conditions.Ready
if ready == nil or (status.observedGeneration or -1) < (metadata.generation or 0) then
  return health("Progressing", "Waiting for the operator")
end

if ready.reason == "Suspended" then
  return health("Suspended", ready.message)
end
if is("Stalled", "True") then
  return health("Degraded", conditions.Stalled.message)
end
if ready.status == "True" then
  -- The server works, but an Ingress, autoscaler or disruption budget is missing.
  if is("ObjectRefused", "True") then
    return health("Degraded", conditions.ObjectRefused.message)
  end
  return health("Healthy", ready.message)
end

-- Argo CD calls such pods degraded as well. One that waits for a node is in progress: nodes may be added.
local broken = { CrashLoop = true, ExternalProviderFailed = true, ImagePullFailed = true, PodsRejected = true }
local working = ready.status == "Unknown" or is("Reconciling", "True")
return health(working and not broken[ready.reason] and "Progressing" or "Degraded", ready.message)
