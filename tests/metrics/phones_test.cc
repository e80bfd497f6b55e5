#include "fovea/metrics/phones.h"

#include <gtest/gtest.h>

#include <set>

#include "fovea/base/error.h"

namespace fovea::phones_test {
namespace {

const char* const kTimit =
    "aa ae ah ao aw ax ax-h axr ay b bcl ch d dcl dh dx eh el em en eng epi er ey f g gcl h# hh hv "
    "ih ix iy jh k kcl l m n ng nx ow oy p pau pcl q r s sh t tcl th uh uw ux v w y z zh";

TEST(Phones, SixtyOneBecomeThirtyNine) {
  const std::vector<std::string> all = phones_of(kTimit, false);
  EXPECT_EQ(all.size(), 61u);
  std::set<std::string> left;
  for (const std::string& phone : all) {
    EXPECT_TRUE(is_timit_phone(phone)) << phone;
    left.insert(std::string(fold_timit_phone(phone)));
  }
  EXPECT_TRUE(left.contains("")) << "q goes";
  left.erase("");
  EXPECT_EQ(left.size(), 39u);
  for (const std::string& phone : left)
    EXPECT_EQ(fold_timit_phone(phone), phone) << "folded once, it stays";
  EXPECT_EQ(phones_of("h# sh ix  hv\tq zh ax-h\n", true),
            (std::vector<std::string>{"sil", "sh", "ih", "hh", "sh", "ah"}));
  EXPECT_EQ(fold_timit_phone("hello"), "hello");
  EXPECT_FALSE(is_timit_phone("hello"));
}

TEST(Phones, ErrorsAreCountedInThem) {
  const std::vector<std::string> wanted{"h# s ix q tcl t", "aa"}, found{"sil s ih dcl t", "aa r"};
  // Six phones and one, of which: h# and sil, ix and ih, q too much, tcl and dcl; r too much.
  EXPECT_DOUBLE_EQ(phone_error_rate(found, wanted, false), 5.0 / 7);
  EXPECT_DOUBLE_EQ(phone_error_rate(found, wanted, true), 1.0 / 6);
  EXPECT_EQ(phone_error_rate(wanted, wanted, true), 0);
  const std::vector<std::string> nothing{"q q"};
  EXPECT_THROW(phone_error_rate(nothing, nothing, true), Error);
}

}  // namespace
}  // namespace fovea::phones_test
