function below(value, path) {
  for (var i = 0; i < path.length && value !== undefined; i++) {
    value = value === null || typeof value !== "object" ? undefined : value[path[i]];
  }
  return value;
}

function read(root, path, loop) {
  if (root === "cursor") return cursor(path[0], loop);
  var roots = { $: output, state: state, item: value, lastOutput: lastOutput, lastJson: lastJson };
  var start = root === "item" && item === "" ? undefined : roots[root];
  return below(start === null ? undefined : start, path);
}

function cursor(name, inside) {
  if (inside !== null && loops[inside].name === name) return loops[inside].cursor;
  var last;
  for (var id in loops) {
    var place = loops[id];
    var later = last === undefined || place.entered > last.entered;
    if (place.underWay && place.name === name && later) last = place;
  }
  return last === undefined ? undefined : last.cursor;
}

function assign(path, what) {
  if (what === undefined) return;
  var at = state;
  for (var i = 0; i < path.length - 1; i++) {
    var next = at[path[i]];
    if (next === null || typeof next !== "object" || Array.isArray(next)) at[path[i]] = {};
    at = at[path[i]];
  }
  at[path[path.length - 1]] = JSON.parse(JSON.stringify(what));
}

function list(loop) {
  var held = [output, item];
  output = undefined;
  item = "";
  var found = read(loops[loop].root, loops[loop].path, null);
  output = held[0];
  item = held[1];
  return Array.isArray(found) ? found : [];
}

// Before a visit: whether there is an item to work on, and which.
function come(socket, loop) {
  usedUp = false;
  verdict = null;
  found = true;
  item = "";
  value = null;
  if (loop !== null) {
    var place = loops[loop];
    if (!place.underWay) {
      place.underWay = true;
      place.cursor = 0;
      place.run += 1;
      place.entered = clock += 1;
    }
    found = place.cursor < list(loop).length;
    place.underWay = found;
    value = found ? list(loop)[place.cursor] : null;
    item = found ? loop + " " + place.run + " " + place.cursor : "";
  }
  if (found) visits[socket] = (visits[socket] || 0) + 1;
}

function takeText(text) {
  output = lastOutput = text;
}

function takeObject(object, label, generates, utility) {
  output = lastJson = object;
  lastOutput = JSON.stringify(object);
  verdict = typeof object.satisfied === "boolean" ? object.satisfied : null;
  if (utility && object.state) {
    for (var key in object.state) {
      if (["workItems", "satisfied", "item"].indexOf(key) < 0) state[key] = object.state[key];
    }
  }
  if ("workItems" in object && (generates || !("workItems" in state))) state.workItems = object.workItems;
  if (typeof object.context === "string" && object.context.trim()) {
    state.context = (state.context ? state.context + "\n\n" : "") + label + object.context;
  }
}

function advance(loop) {
  loops[loop].cursor += 1;
  usedUp = loops[loop].cursor >= list(loop).length;
  if (usedUp) loops[loop].underWay = false;
}
