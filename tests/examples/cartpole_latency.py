"""What does latency do to a cart-pole?  A notebook as a script: run it whole, or cell by cell in an editor."""

# %% Three latencies, eight seeds.  Each record comes as soon as it is committed.
from analysis import compare, figures, load
from analysis.shape import curves
from sweep import run_sweep

sweep = run_sweep("scene=cartpole", "+latency=0,20ms,40ms", "seeds=8", "tracking=none", "executor=inline")
first = next(sweep)
print(f"seed {first.seed} {first.outcome.status.value}: angle_rms {first.metrics['angle_rms']:.4f} rad")
sweep.finish()

# %% The answer in a sentence, and the numbers behind it.
comparison = compare(sweep.folder)
print(comparison.headline)
for cell in comparison.cells[1:]:
    angle = cell.contrast.metrics["angle_rms"]
    change = angle.percent
    print(f"{cell.label}: {change.estimate:+.1f} % [{change.low:.1f}, {change.high:.1f}], {angle.receipt.words}")

# %% Every run is a row of a pandas table.
frame = load(sweep.folder)
print(frame.groupby("latency").angle_rms.agg(["count", "mean"]).round(4).to_string())

# %% Figures are plotly objects: .show() them in a notebook, or write them to a file.
(curve,) = curves(comparison, "latency")
figure = figures.response(comparison, curve, "angle_rms")
figure.write_html(sweep.folder / "latency.html", include_plotlyjs="cdn")
print(figure.layout.title.text, "|", [trace.type for trace in figure.data])
