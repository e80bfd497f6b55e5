// One small upright bar chart per query: a green bar of height 1 where the truth is planted, the
// learned weights in orange over it, one shade per series. All panels share the axis 0..1, so that
// they can be compared at a glance.
#include <algorithm>
#include <cmath>

#include "fovea/base/text.h"
#include "fovea/explain/draw/block.h"
#include "fovea/explain/record/labels.h"

namespace fovea {
namespace {

constexpr double kTitleHeight = 22;
constexpr double kPanelPlotHeight = 130;
constexpr double kAxisWidth = 34;
constexpr double kPanelGap = 26;
constexpr size_t kMostPanels = 24;
constexpr size_t kMostColumns = 3;
constexpr double kNarrowestSlot = 16;
constexpr double kMostPanelLabel = 90;

std::string shown(const std::string& label) {
  return fitted(visible_blanks(label), kMostPanelLabel, kSmallTextSize);
}

class PanelsBlock : public Block {
 public:
  PanelsBlock(const Figure& figure, const PictureOptions& options)
      : figure_(figure), options_(options), shown_(std::min(figure.map().queries(), kMostPanels)) {
    const double keys = double(std::min(figure.map().keys(), options.most_bars));
    const double narrowest = kAxisWidth + keys * kNarrowestSlot;
    const auto room = size_t(std::max(1.0, (width_ + kPanelGap) / (narrowest + kPanelGap)));
    columns_ = std::max<size_t>(1, std::min({room, kMostColumns, shown_}));
    const double columns = double(columns_);
    panel_width_ = (width_ - kPanelGap * (columns - 1)) / columns;
    // One or two panels would look stretched over the whole width.
    panel_width_ = std::min(panel_width_, std::max(320.0, narrowest * 1.8));
    measure_labels();
    const size_t rows = (shown_ + columns_ - 1) / columns_;
    make_legend();
    height_ = kLegendHeight + 6 + double(rows) * (panel_height() + kPanelGap) - kPanelGap / 2 +
              (shown_ < figure.map().queries() ? 20 : 0);
  }

  void draw(Canvas& canvas, Point origin) const override {
    draw_legend(canvas, origin, legend_);
    const double top = origin.y + kLegendHeight + 6;
    for (size_t query = 0; query < shown_; ++query) {
      const size_t column = query % columns_, row = query / columns_;
      draw_panel(canvas, query,
                 {origin.x + double(column) * (panel_width_ + kPanelGap),
                  top + double(row) * (panel_height() + kPanelGap)});
    }
    if (shown_ < figure_.map().queries())
      canvas.text({origin.x, origin.y + height_ - 6},
                  concat("… and ", figure_.map().queries() - shown_, " more panels"),
                  {kTextSize, palette::kQuietInk});
  }

 private:
  double panel_height() const { return kTitleHeight + kPanelPlotHeight + label_height_ + 4; }
  double plot_width() const { return panel_width_ - kAxisWidth; }
  double slot_width() const {
    return plot_width() / double(std::min(figure_.map().keys(), options_.most_bars));
  }

  /// Labels that do not fit side by side are turned upright and shortened.
  void measure_labels() {
    double widest = 0;
    for (const std::string& label : figure_.map().key_labels)
      widest = std::max(widest, text_width(shown(label), kSmallTextSize));
    upright_ = widest > slot_width() - 3;
    label_height_ = upright_ ? widest + 4 : 14;
  }

  void make_legend() {
    for (size_t i = 0; i < figure_.series.size(); ++i) {
      const MapView& map = *figure_.series[i];
      legend_.push_back(
          {LegendMark::Square, series_colour(i),
           fitted(shows_shares(map) ? map.title + ", as a share" : map.title, 300, kTextSize - 1)});
    }
    const bool has_spread = std::ranges::any_of(figure_.series, [](const MapView* map) {
      return std::ranges::any_of(map->spread, [](double value) { return value > 0; });
    });
    if (has_spread) legend_.push_back({LegendMark::Whisker, palette::kInk, "± one deviation"});
    if (figure_.has_truth())
      legend_.push_back({LegendMark::Square, palette::kTruth, "known to matter"});
  }

  /// The last series is the one that counts and has the strongest colour.
  Colour series_colour(size_t index) const {
    const size_t count = figure_.series.size();
    if (count == 1) return palette::kWeight;
    return mix(palette::kLightWeight, palette::kWeight, double(index) / double(count - 1));
  }

  void draw_panel(Canvas& canvas, size_t query, Point origin) const {
    const MapView& map = figure_.map();
    const auto [rows, selection] = panel_rows(figure_, query, options_);
    std::string title = map.query_labels[query];
    if (selection.hidden > 0)
      title += concat(" (", selection.keys.size(), " of ", map.keys(), " keys)");
    canvas.text({origin.x + kAxisWidth, origin.y + 13},
                fitted(title, plot_width(), kTextSize, true),
                {kTextSize, palette::kInk, Anchor::Start, true});

    const Rectangle plot{origin.x + kAxisWidth, origin.y + kTitleHeight, plot_width(),
                         kPanelPlotHeight};
    draw_axis(canvas, plot);
    const double slot = plot.width / double(selection.keys.size());
    for (size_t i = 0; i < selection.keys.size(); ++i) {
      const Rectangle place{plot.x + slot * double(i), plot.y, slot, plot.height};
      const size_t key = selection.keys[i];
      if (figure_.is_true(query, key))
        canvas.fill({place.x + slot * 0.06, plot.y, slot * 0.88, plot.height}, palette::kTruth);
      for (size_t series = 0; series < rows.size(); ++series)
        draw_bar(canvas, place, series,
                 {rows[series].heights[key],
                  figure_.series[series]->deviation(query, key) * rows[series].scale});
      draw_label(canvas, map.key_labels[key], place);
    }
    canvas.line({plot.x, plot.y + plot.height}, {plot.x + plot.width, plot.y + plot.height},
                palette::kAxis, 1);
  }

  void draw_axis(Canvas& canvas, const Rectangle& plot) const {
    for (const double value : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      const double y = plot.y + plot.height * (1 - value);
      canvas.line({plot.x, y}, {plot.x + plot.width, y}, palette::kGrid, 1);
      canvas.text({plot.x - 6, y + 3.5}, format_number(value),
                  {kSmallTextSize, palette::kQuietInk, Anchor::End});
    }
  }

  struct Bar {
    double height, spread;
  };
  void draw_bar(Canvas& canvas, const Rectangle& place, size_t series, const Bar& bar) const {
    if (!std::isfinite(bar.height)) return;
    const double count = double(figure_.series.size());
    const double thickness = place.width * 0.68 / count;
    const double x = place.x + place.width * 0.16 + thickness * double(series);
    auto level = [&](double value) {
      return place.y + place.height * (1 - std::clamp(value, 0.0, 1.0));
    };
    canvas.fill({x, level(bar.height), thickness, place.y + place.height - level(bar.height)},
                series_colour(series));
    if (!(bar.spread > 0) || !std::isfinite(bar.spread)) return;
    const double middle = x + thickness / 2, cap = std::min(3.0, thickness / 2);
    const double low = level(bar.height - bar.spread), high = level(bar.height + bar.spread);
    canvas.whisker({middle, low}, {middle, high}, cap, palette::kInk, 1);
  }

  void draw_label(Canvas& canvas, const std::string& label, const Rectangle& place) const {
    const double middle = place.x + place.width / 2, bottom = place.y + place.height;
    const std::string text = shown(label);
    if (upright_) {
      canvas.text({middle + 3.5, bottom + 6}, text,
                  {kSmallTextSize, palette::kInk, Anchor::End, false, -90});
    } else {
      canvas.text({middle, bottom + 14}, text, {kSmallTextSize, palette::kInk, Anchor::Middle});
    }
  }

  Figure figure_;
  PictureOptions options_;
  std::vector<LegendItem> legend_;
  size_t shown_, columns_ = 1;
  double panel_width_ = 0, label_height_ = 0;
  bool upright_ = false;
};

}  // namespace

std::unique_ptr<Block> panels_block(const Figure& figure, const PictureOptions& options) {
  if (figure.map().weights.empty()) return empty_block();
  return std::make_unique<PanelsBlock>(figure, options);
}

}  // namespace fovea
